"""`Legs`: what kernels know of a biped, as arrays; `biped.Biped` fills it in."""

from __future__ import annotations

from sesshoku.compiled.table import Record, array, scalar, viewer


class Legs(Record):
    """Index 0 is the left, 1 the right leg. Q coordinates, L links of the whole scene, n joints without a motor."""

    root = scalar()  # link of the base
    root_coordinate = scalar()
    root_dof = scalar()
    tree = scalar()
    first_link = scalar()  # the robot's links are first .. last - 1
    last_link = scalar()
    analytic = scalar()  # 1: `leg_angles` holds; 0: legs of another build, solved by iteration
    coordinate = array(int, 2, 6)  # of the leg joints, hip to ankle
    dof = array(int, 2, 6)
    foot_link = array(int, 2)  # link of the last leg joint
    foot_of_link = array(int, "L")  # 0, 1: the link belongs to that foot; -1
    free_coordinate = array(int, "n")  # bushes and the like: taken to be at home
    free_dof = array(int, "n")
    home = array(float, "Q")
    hip = array(float, 2, 3)  # hip centre in the base's link frame
    length = array(float, 2, 3)  # thigh, shank, height of the ankle above the sole, m
    sole_position = array(float, 2, 3)  # sole point in the foot's link frame
    sole_rotation = array(float, 2, 3, 3)  # axes of the level sole there: parallel to the base at zero angles
    sole_box = array(float, 2, 4)  # x from, to, y from, to of the sole about its point
    pivot = array(float, 2, 3)  # about which the foot yields, from the sole point in the sole's axes
    # ---- work space
    R_base = array(float, 3, 3)
    R_foot = array(float, 2, 3, 3)
    R_sole = array(float, 3, 3)
    point = array(float, 4, 3)
    angles = array(float, 6)
    jacobian = array(float, 6, 6)
    normal = array(float, 6, 6)
    pivots = array(int, 6)
    error = array(float, 6)
    motion = array(float, 6)  # momentum and the like


as_legs = viewer(Legs)
