"""`Model`: the frozen flat arrays a Scene compiles to; what every kernel reads.

Vocabulary. A **link** is a rigid body that moves by its own joint (bodies joined by fixed joints share one link; bodies
fixed to the world are link -1). A **tree** is the set of links hanging on one root; they stand together, parents
first. A **degree of freedom** (dof) is one velocity; a **coordinate** one position number. A **frame** is a named body:
a pose on a link.

Link frames (chosen at compile time, hidden behind frames): origin on the joint's anchor and z along its axis for
revolute, prismatic and planar joints; origin at the centre of mass, axes of the body, for free joints.

Row storage. Row k of the mass matrix holds the entries of dof k's ancestors, root first, dof k last:
`mass_matrix[dof_row[k] + e]`, e = 0..dof_depth[k], belongs to dof `row_dof[dof_row[k] + e]`.
"""

from __future__ import annotations

from sesshoku.compiled.table import Record, array, scalar, viewer

# joint types of links
FREE, REVOLUTE, PRISMATIC, SPHERICAL, PLANAR, KINEMATIC = range(6)
# actuator kinds
TORQUE, POSITION, VELOCITY, GENERAL = range(4)
# how the activation of a general actuator follows its command: at once, as its integral, as a filter of first order
# advanced by Euler's rule or exactly
DIRECT, INTEGRATOR, FILTER, FILTER_EXACT = range(4)
# loop kinds
BALL, HINGE, WELD = range(3)
LOOP_ROWS = (3, 5, 6)  # rows of each
# what the path of a spatial tendon runs through
PATH_SITE, PATH_PULLEY, PATH_SPHERE, PATH_CYLINDER = range(4)
NO_SIDE = -2  # path_side_link of a path that goes round either way
# shape types
(SHAPE_PLANE, SHAPE_BOX, SHAPE_SPHERE, SHAPE_CAPSULE, SHAPE_CYLINDER, SHAPE_CONVEX, SHAPE_ELLIPSOID,
 SHAPE_FIELD) = range(8)
# columns of shape_filter: rigid group, the group its joint hangs on (-1), the family it does not touch (-1), whether it
# moves (by forces), whether a pair with rules of its own names it or its body, whether one names the shape itself;
# see `filters`
GROUP, HANGS_ON, FAMILY, MOVES, RULED, PAIRED = range(6)
# columns of shape_rule: how its friction combines with another's; see `collision.materials`
COMBINE, PRIORITY, CONDIM = range(3)
MEAN, MAXIMUM = range(2)
# rules of pairs of bodies
NO_RULE, APART, TOGETHER = range(3)


class Model(Record):
    """L links, V dofs, T trees, F frames, A actuators, N tendons, P places on their paths, C loops, M mimics, K
    clusters, G shapes, D dragged bodies.
    """

    link_count = scalar()
    dof_count = scalar()
    coordinate_count = scalar()
    tree_count = scalar()
    frame_count = scalar()
    actuator_count = scalar()
    tendon_count = scalar()
    spatial_count = scalar()  # tendons that are paths through space
    has_lifted = scalar()  # 1: some joint's actuators bear its gravity compensation (dof_lifted)
    drag_count = scalar()  # bodies that a fluid resists; 0 without a fluid
    loop_count = scalar()
    mimic_count = scalar()
    shape_count = scalar()
    group_count = scalar()
    cluster_count = scalar()
    level_count = scalar()  # of size classes of shapes
    has_rolling = scalar()  # 1: some shape or pair has rolling or torsional friction
    pairs_listed = scalar()  # 1: allowed_pair holds all pairs of shapes that may touch; 0: they are too many

    gravity = array(float, 3)  # m/s^2, world

    link_parent = array(int, "L")  # parent link, -1 for a root
    link_tree = array(int, "L")
    link_joint = array(int, "L")  # joint type
    link_dof = array(int, "L")  # first dof
    link_dof_count = array(int, "L")
    link_coordinate = array(int, "L")  # first coordinate
    link_position = array(float, "L", 3)  # link frame in the parent link's frame (world for roots) at zero position
    link_rotation = array(float, "L", 3, 3)
    link_mass = array(float, "L")  # kg
    link_center = array(float, "L", 3)  # centre of mass in the link frame
    link_inertia = array(float, "L", 6)  # xx yy zz xy xz yz about the centre of mass, link axes
    link_lift = array(float, "L", 4)  # gravity compensation: mass whose weight is borne, its centre (link frame)

    # bodies that the fluid resists (dynamics/pushes.py)
    wind = array(float, 3)  # m/s, world
    drag_link = array(int, "D")
    drag_frame = array(int, "D")  # the body
    drag_position = array(float, "D", 3)  # its centre of mass, in the link frame
    drag_rotation = array(float, "D", 3, 3)  # its principal axes as columns, link axes
    drag_linear = array(float, "D", 6)  # along and about these axes: N s/m, N m s/rad
    drag_square = array(float, "D", 6)  # N s^2/m^2, N m s^2/rad^2
    drag_inertia = array(float, "D", 6)  # mass, thrice, and moments

    tree_link = array(int, "T + 1")  # first link of each tree
    tree_dof = array(int, "T + 1")  # first dof of each tree
    tree_light = array(int, "T")  # 1: a link of it is light beside what hangs on it, and has no armature
    tree_joined = array(int, "T")  # first of the trees that loops and mimics join with it, itself if none

    dof_link = array(int, "V")
    dof_parent = array(int, "V")  # the dof before it on the way to the root, -1
    dof_depth = array(int, "V")  # number of ancestors
    dof_row = array(int, "V + 1")  # start of its row
    row_dof = array(int, "rows")  # ancestors of each dof, root first, itself last; then of clusters
    dof_coordinate = array(int, "V")  # its coordinate where q' = v, -1 for quaternion axes
    dof_armature = array(float, "V")  # kg m^2 or kg
    dof_inertia = array(float, "V")  # of single axes what they move at the start, armature included; others infinite
    dof_viscous = array(float, "V")  # N m s/rad or N s/m
    dof_stiffness = array(float, "V")
    dof_rest = array(float, "V")
    dof_implicit = array(int, "V")  # 1: spring and damper may be integrated implicitly
    dof_lower = array(float, "V")  # limits, infinite where there are none
    dof_upper = array(float, "V")
    dof_effort = array(float, "V", 2)  # least and largest sum of actuator forces
    dof_lifted = array(int, "V")  # 1: gravity compensation counts as an actuator force there
    dof_static_friction = array(float, "V")  # N m or N
    dof_kinetic_friction = array(float, "V")
    limited_dofs = array(int, "limited")  # dofs with a finite limit, group by group
    rubbing_dofs = array(int, "rubbing")  # dofs with Coulomb friction, group by group
    sprung_dofs = array(int, "sprung")  # dofs with a spring or viscous friction

    frame_link = array(int, "F")  # link, -1 for the world
    frame_position = array(float, "F", 3)  # in the link frame
    frame_rotation = array(float, "F", 3, 3)

    # an actuator acts along a joint (its range of driven dofs, with arm 1) or a tendon, or as a wrench
    actuator_dof = array(int, "A")  # the dof of its joint, -1: it drives a tendon or pushes a body
    actuator_tendon = array(int, "A")  # the tendon it pulls, -1: none
    actuator_drive = array(int, "A + 1")  # ranges of drive_dof
    drive_dof = array(int, "driven")
    drive_arm = array(float, "driven")
    actuator_kind = array(int, "A")
    actuator_kp = array(float, "A")
    actuator_kd = array(float, "A")
    actuator_gain = array(float, "A", 3)  # general: force per command, and what length and speed add to it
    actuator_bias = array(float, "A", 3)  # general: constant force, and force per length and speed
    actuator_command_range = array(float, "A", 2)
    actuator_effort = array(float, "A", 2)  # least and largest force before the gear
    actuator_gear = array(float, "A")
    actuator_implicit = array(int, "A")
    actuator_inertia = array(float, "A")  # what moves with its joint, as tendon_inertia; of one on a tendon that counts
    actuator_dynamics = array(int, "A")  # how its activation follows the command
    actuator_time = array(float, "A")  # s, time constant of a filter
    actuator_activation_range = array(float, "A", 2)
    actuator_link = array(int, "A")  # the link it pushes, -1: none
    actuator_base = array(int, "A")  # link in whose axes it pushes and that is pushed back; itself: not pushed back
    actuator_place = array(float, "A", 3)  # where it pushes, in the link frame
    actuator_wrench = array(float, "A", 6)  # force and torque per unit of its force, in the axes of actuator_base

    tendon_drive = array(int, "N + 1")  # ranges of tendon_dof
    tendon_dof = array(int, "pulled")  # of a spatial tendon all dofs that may change its length
    tendon_arm = array(float, "pulled")  # of a spatial tendon zero: they change with the pose (data.tendon_arm)
    tendon_stiffness = array(float, "N")  # N/m, where the length leaves tendon_rest
    tendon_rest = array(float, "N", 2)
    tendon_viscous = array(float, "N")
    tendon_inertia = array(float, "N")  # kg: what moves with its length, at the start, each joint by itself
    tendon_lower = array(float, "N")  # limits of its length, infinite where there are none
    tendon_upper = array(float, "N")
    tendon_friction = array(float, "N")  # dry friction, N
    rowed_tendons = array(int, "rowed")  # tendons with limits or friction, group by group
    tendon_end = array(int, "N", 2)  # last dofs of the chains its dofs lie on, -1: none
    tendon_start = array(int, "N", 2)  # where the chains' coefficients begin in tendon_row
    tendon_row = array(int, "tendon_rows")  # along the chains: place in tendon_dof, -1 for dofs between

    # paths of spatial tendons: sites, pulleys, and shapes they wrap round (dynamics/tendons.py)
    tendon_path = array(int, "N + 1")  # ranges of the places; none: a sum over joints
    tendon_acts = array(int, "N")  # 1: a spring, damper, limit, friction or actuator acts along it
    path_kind = array(int, "P")
    path_link = array(int, "P")  # link, -1 for the world
    path_dof = array(int, "P")  # last dof at or above that link, -1: none
    path_position = array(float, "P", 3)  # in the link frame: a site, or the centre of a shape
    path_rotation = array(float, "P", 3, 3)  # axes of a shape in the link frame; z is a cylinder's
    path_size = array(float, "P")  # radius, m; of a pulley its divisor
    path_side_link = array(int, "P")  # link of the place that says on which side of a shape it passes, or NO_SIDE
    path_side = array(float, "P", 3)  # that place, in its link frame

    loop_kind = array(int, "C")
    loop_link = array(int, "C", 2)  # links a and b, -1 for the world
    loop_position = array(float, "C", 2, 3)  # anchor in each link frame
    loop_rotation = array(float, "C", 2, 3, 3)  # anchor frame in each link frame, z = hinge axis
    loop_correction = array(float, "C")  # share of the error removed per step

    mimic_dof = array(int, "M")
    mimic_source = array(int, "M")
    mimic_ratio = array(float, "M")
    mimic_offset = array(float, "M")

    # groups: trees that loops and mimics join; only groups with something to constrain are listed
    group_limited = array(int, "groups + 1")  # ranges of limited_dofs
    group_rubbing = array(int, "groups + 1")  # ranges of rubbing_dofs
    group_tendon = array(int, "groups + 1")  # ranges of rowed_tendons
    group_mimic = array(int, "groups + 1")  # ranges of the mimics
    group_loop = array(int, "groups + 1")  # ranges of the loops
    group_cluster = array(int, "groups + 1")  # ranges of the clusters
    # clusters (K): loops and mimics whose rows may depend on each other
    cluster_mimic = array(int, "K + 1")  # ranges of the mimics
    cluster_loop = array(int, "K + 1")  # ranges of the loops
    cluster_dofs = array(int, "K", 2)  # start in row_dof and number of the dofs its rows reach, ancestors included
    cluster_start = array(int, "K + 1", 3)  # where its rows, their coefficients and their factor begin

    shape_link = array(int, "G")  # link, -1 for the world
    shape_frame = array(int, "G")  # the body it belongs to
    shape_type = array(int, "G")
    # box: half edges; sphere: r; capsule, cylinder: r, half length; ellipsoid: half axes; height field: edges of
    # a cell along x and y, and how far its ground reaches below z = 0
    shape_size = array(float, "G", 3)
    shape_position = array(float, "G", 3)  # in the link frame
    shape_rotation = array(float, "G", 3, 3)
    shape_material = array(float, "G", 3)  # static, kinetic, restitution
    shape_rolling = array(float, "G", 2)  # torsional and rolling friction, m
    shape_rule = array(int, "G", 3)  # how friction combines, by the columns COMBINE .. CONDIM
    shape_category = array(int, "G")
    shape_mask = array(int, "G")
    shape_box = array(float, "G", 2, 3)  # centre and half edges of a box around it, shape frame; planes: zero
    shape_radius = array(float, "G")  # half the diagonal of that box
    shape_filter = array(int, "G", 6)  # what it may touch, by the columns GROUP .. PAIRED
    beside_start = array(int, "G + 1")  # ranges of beside, by shape
    beside = array(int, "besides")  # shapes of the same link that it may touch or overlap, of boxes and polyhedra
    shape_level = array(int, "G")  # size class in the broad phase, 0: the smallest; planes: -1
    shape_vertex = array(int, "G", 2)  # first and last+1 vertex of a convex polyhedron
    shape_face = array(int, "G", 2)
    vertices = array(float, "vertices", 3)  # of all convex polyhedra, shape frame
    faces = array(int, "faces", 3)  # vertex numbers within the shape
    shape_field = array(int, "G", 3)  # height fields: place of the first elevation, rows (along y), columns (along x)
    elevation = array(float, "elevations")  # m, above z = 0 of the shape's frame, of all height fields, row by row
    # flat faces of convex polyhedra as polygons (scene.polyhedra)
    shape_polygon = array(int, "G", 2)  # first and last+1 polygon
    polygon_start = array(int, "polygons + 1")  # ranges of polygon_corner
    polygon_corner = array(int, "corners")  # vertex numbers within the shape, counter-clockwise from outside
    polygon_normal = array(float, "polygons", 3)  # unit, outward, shape frame
    polygon_offset = array(float, "polygons")  # how far the shape reaches along that normal
    neighbour_start = array(int, "vertices + 1")  # ranges of neighbour, by vertex
    neighbour = array(int, "neighbours")  # vertices joined to it by an edge, numbers within the shape
    around_start = array(int, "vertices + 1")  # ranges of around, by vertex
    around = array(int, "around")  # polygons that meet in the vertex

    # pairs with rules of their own, sorted by key: of bodies, frames a < b: a * frame_count + b; behind them those of
    # shapes, a < b: frame_count^2 + a * shape_count + b
    pair_key = array(int, "pairs")
    pair_rule = array(int, "pairs")  # NO_RULE, APART or TOGETHER
    pair_material = array(float, "pairs", 3)  # static, kinetic, restitution; static -1: as the materials combine
    pair_rolling = array(float, "pairs", 2)  # torsional and rolling friction, m; torsional -1: as the materials combine
    allowed_pair = array(int, "allowed", 2)  # shapes that may touch, sorted, if pairs_listed


as_model = viewer(Model)
